package outbound

// NetConnect is the last guard, at the socket, for the tests.
var NetConnect = netConnect
