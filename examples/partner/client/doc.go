// Package client is a partner app's side of the API, on golang.org/x/oauth2.
//
//   - [Discover] finds the endpoints;
//   - [App.Begin] and [App.Finish] ask a business for access: a fresh state and
//     PKCE verifier each time;
//   - [Source] keeps the two tokens: stored before either is used, renewed a
//     minute early or when the API refuses one, once for all goroutines;
//   - [Bearer] sends the access token over [Retry], which waits and repeats what is
//     worth it, over [NewTransport];
//   - [API] makes calls with them, and reads errors by their code.
//
// # Refusals that pass
//
// invalid_grant at a refresh is final: the tokens are forgotten and [ErrReauthorize] says so.
// access_denied is not, so the tokens are kept, and the refresh is tried again after a pause;
// see [ErrPaused].
//
// # Losing a response
//
// A refresh token works once. When the response to a refresh is lost, on the way or
// in a crash before the tokens were stored, the client has only the old one, and
// nothing better to do than to present it again: the first attempt may not have
// arrived. If it did, a strict service takes the second for a thief's, ends all
// tokens of that consent and responds with invalid_grant, and the business has to be
// asked again; one with a retry window responds with the same tokens once more.
// Nothing is lost by trying: the tokens that end are tokens that never arrived.
package client
