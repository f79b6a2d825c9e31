package plan

import "testing"

func TestMessageReportsWhatBlocksADrain(t *testing.T) {
	drain := Action{Kind: Drain, Node: "worker-3"}
	held := Wait{Node: "worker-3", Message: "Draining worker-3: shop/cart-1: PodDisruptionBudget shop/cart allows 0 more disruptions"}
	for situation, tc := range map[string]struct {
		do   []Action
		want string
	}{
		"nothing else happens": {[]Action{drain}, held.Message},
		"another node starts":  {[]Action{drain, {Kind: Claim, Node: "worker-4"}}, "Starting with worker-4"},
	} {
		t.Run(situation, func(t *testing.T) {
			d := &deciding{actions: tc.do, waiting: []Wait{held}}
			if got := d.message(Decision{State: Running}); got != tc.want {
				t.Errorf("message() = %q, want %q", got, tc.want)
			}
		})
	}
}
