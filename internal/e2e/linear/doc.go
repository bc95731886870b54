// Package linear holds what concurrent clients saw of things that can be used once, a
// code, a refresh token, a device code, a session token, against small sequential
// models, with porcupine: there is an order of all calls, within the time that each of
// them took, in which one client after the other would have seen the same.
package linear
