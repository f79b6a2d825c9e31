package observe

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/refit-dev/refit/internal/upgrade/cluster"
)

func TestClockIsComparedWithMostServers(t *testing.T) {
	const unknown = 7 * time.Minute
	for situation, tt := range map[string]struct {
		ahead []time.Duration
		want  time.Duration
	}{
		"no server was reached":       {nil, unknown},
		"all agree":                   {[]time.Duration{0, time.Second, 0}, 0},
		"one server is wrong":         {[]time.Duration{0, 10 * time.Minute, 0}, 0},
		"this clock is ahead":         {[]time.Duration{-10 * time.Minute, -10 * time.Minute, -10 * time.Minute}, 10 * time.Minute},
		"this clock is behind":        {[]time.Duration{10 * time.Minute}, -10 * time.Minute},
		"one of two servers is wrong": {[]time.Duration{0, -10 * time.Minute}, 0},
	} {
		t.Run(situation, func(t *testing.T) {
			var servers []cluster.APIServer
			for _, ahead := range tt.ahead {
				servers = append(servers, cluster.APIServer{ClockAhead: &ahead})
			}
			if got := medianOffset(append(servers, cluster.APIServer{}), unknown); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

func TestClockOfAServerIsReadFromItsResponse(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Now().Add(10*time.Minute).UTC().Format(http.TimeFormat))
		_, _ = w.Write([]byte(`{"gitVersion":"v1.36.3"}`))
	}))
	defer server.Close()
	w := route{client: server.Client(), base: server.URL, clock: &serverClock{}}
	if version, err := getVersion(t.Context(), w); err != nil || version != "v1.36.3" {
		t.Fatal(version, err)
	}
	if ahead := w.clock.ahead; ahead == nil || (*ahead-10*time.Minute).Abs() > 30*time.Second {
		t.Errorf("the server's clock is %v ahead", ahead)
	}
}
