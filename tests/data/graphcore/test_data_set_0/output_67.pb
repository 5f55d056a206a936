BBatchNormalization_63_1JcÁ>
°¾þÓ?jè2>