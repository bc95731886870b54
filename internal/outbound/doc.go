// Package outbound is the only way out: the HTTP client for requests whose URL
// somebody else chose, webhook deliveries and client metadata documents.
//
// A [Policy] says which URLs may be saved and which addresses may be dialled. A
// [Client] sends one request under that policy:
//
//   - The address really dialled is judged, after DNS. Names are resolved here,
//     the answer is judged, and the socket is judged once more when it connects,
//     so a name that changes its answer in between gains nothing.
//   - One clock runs from the DNS query to the last byte of the body that is read.
//   - No proxy from the environment, no redirects, no transparent gzip, no HTTP/2.
//   - Headers and body are bounded, whatever the other side sends.
//
// Errors carry two texts: [Error.Error] for the operator's log, and
// [Error.Public] for the owner of the URL, who must not learn from it whether an
// address is blocked, closed or unknown.
package outbound
