
BAddBias_23_0J08ä¹œ<GCj?žAsA4»Î@šC¯?cB