package connect

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

func TestClockShowsTheTimeOfTheAPIServer(t *testing.T) {
	there := time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", there.Format(http.TimeFormat))
	}))
	defer server.Close()
	here := there.Add(3 * time.Hour) // the clock of the laptop is ahead
	clock, err := Clock(t.Context(), &rest.Config{Host: server.URL}, func() time.Time { return here })
	if err != nil {
		t.Fatal(err)
	}
	here = here.Add(time.Minute)
	if got, want := clock(), there.Add(time.Minute); !got.Equal(want) {
		t.Errorf("it shows %s, want %s", got, want)
	}
}
