package sample

import (
	"testing"
	"time"
)

func TestNextTick(t *testing.T) {
	tests := map[string]struct {
		due, now   time.Duration
		wantNext   time.Duration
		wantMissed int
	}{
		"on time":                      {ms(200), ms(200), ms(300), 0},
		"a little late":                {ms(200), ms(299), ms(300), 0},
		"as late as the next tick":     {ms(200), ms(300), ms(400), 1},
		"held up for more than a tick": {ms(200), ms(330), ms(400), 1},
		"held up for a second":         {ms(200), ms(1250), ms(1300), 10},
	}
	for situation, tt := range tests {
		t.Run(situation, func(t *testing.T) {
			next, missed := nextTick(tt.due, tt.now, ms(100))
			if next != tt.wantNext || missed != tt.wantMissed {
				t.Errorf("next tick is %s with %d missed, want %s with %d", next, missed, tt.wantNext, tt.wantMissed)
			}
		})
	}
}
