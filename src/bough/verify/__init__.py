"""`bough verify`: what is installed here, against closed forms, conservation laws, other methods and values of other origin."""
