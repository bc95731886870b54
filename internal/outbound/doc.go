// Package outbound is the HTTP client for requests whose URL a partner chose: webhook
// deliveries and client metadata documents.
//
// A [Policy] decides which URLs may be saved and which addresses may be dialled. A
// [Client] sends requests under that policy, through an http.Transport:
//
//   - The address that is dialled is checked after DNS, so a name that changes its
//     addresses between two lookups gains nothing. See [Config.Dial] for what is checked
//     where.
//   - One timeout covers everything from the DNS query to the last byte of the body that
//     is read.
//   - No proxy from the environment, no redirects, no transparent gzip, no HTTP/2.
//   - Headers and body are bounded.
//
// Errors carry two texts: [Error.Error] for the operator's log, and [Error.Public] for
// the owner of the URL. The public text does not reveal whether an address is blocked,
// closed or unknown.
package outbound
