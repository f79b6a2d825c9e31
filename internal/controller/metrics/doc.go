// Package metrics tells of operations in numbers. They are counted from the objects when somebody asks, so that each controller, the one that leads or not,
// started long ago or just now, tells the same. No metric names an operation or a node: there may be thousands.
package metrics
