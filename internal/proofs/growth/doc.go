// Package growth holds the proof that the list of a webhook's deliveries costs the same
// however many deliveries the webhook has. Costs are the shortest times of many turns, which
// the sizes take one after the other, so that other work on the machine affects all alike.
package growth
