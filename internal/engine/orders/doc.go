// Package orders writes the spec of NodeUpgrades, which are the orders to agents. No other package
// does. A write is fenced by the sequence, the epoch and the resource version of the order that the
// decision was made on.
package orders
