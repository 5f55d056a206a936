
BlogitsJ(
qÁ¾avŒ¾ìµ@ƒ^¾Ö(0>h~¿=rŒ¾…gä¾˜ør¿³ L¿