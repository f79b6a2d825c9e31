// Package orders writes the spec of NodeUpgrades and ComponentUpgrades, which are the orders to
// agents and to refit-components. No other package does. A write is fenced by the sequence, the
// epoch and the resource version of the order that the decision was made on.
package orders
