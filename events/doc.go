// Package events holds what happened in a business, as apps get to know of it: the
// catalog of what can happen, recording it in the transaction of the change, and
// the Events API over it.
package events
