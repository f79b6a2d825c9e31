// Package orders builds the orders that controllers give to agents, which are the spec of a
// NodeUpgrade:
//
//  1. Planned lists the orders that an operation may give to a node, so that preflight can require
//     an agent that reads them.
//  2. New builds an order, and Held the order that stops another.
//  3. FormatOf decides in which format an order is written: the lowest that carries its fields, so
//     that a newer controller still directs the agents of an older release.
//  4. Unchanged reports whether the order that a decision was made on is still the one in the API.
package orders
