package orders

import (
	refitv1alpha1 "github.com/refit-dev/refit/api/v1alpha1"
)

// Format is one format of orders: what it adds to the format before it.
type Format struct {
	// Number is the format's number in the API.
	Number int32
	// Needed reports whether an order uses what this format adds.
	Needed func(*refitv1alpha1.NodeUpgradeSpec) bool
}

// Formats are formats of orders, the lowest first.
type Formats []Format

// Known returns the formats that this version writes and reads. A field or a permit that older
// agents do not know takes a row of its own here, and raises MaxOrderFormat in the API.
func Known() Formats {
	return Formats{
		{Number: refitv1alpha1.MinOrderFormat, Needed: func(*refitv1alpha1.NodeUpgradeSpec) bool { return true }},
		{Number: BackupFormat, Needed: func(o *refitv1alpha1.NodeUpgradeSpec) bool { return o.Permit == refitv1alpha1.PermitBackup }},
		{Number: NotAfterFormat, Needed: func(o *refitv1alpha1.NodeUpgradeSpec) bool { return o.NotAfter != nil }},
	}
}

// FormatOf returns the lowest known format that carries an order.
func FormatOf(order *refitv1alpha1.NodeUpgradeSpec) int32 { return Known().Of(order) }

// Of returns the lowest of the formats that carries every given order.
func (f Formats) Of(orders ...*refitv1alpha1.NodeUpgradeSpec) int32 {
	var number int32
	for _, format := range f {
		for _, order := range orders {
			if format.Needed(order) {
				number = format.Number
			}
		}
	}
	return number
}
