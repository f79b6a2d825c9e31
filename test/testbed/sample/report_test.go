package sample

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func exampleReport() Report {
	service := func(node string, spans ...Span) observation {
		return observation{kind: KindService, node: node, spans: spans, until: ms(650)}
	}
	later := spanOf("ffg")
	later.From = ms(0)
	return newReport(time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), defaultInterval, defaultTimeout, []observation{
		{kind: KindAPINew, spans: []Span{spanOf("gffgff")}, missed: 2, until: ms(550)},
		service("w1", spanOf("gfg"), later),
		service("w2", spanOf("gfffg")),
	})
}

func TestReportJSON(t *testing.T) {
	got, err := json.MarshalIndent(exampleReport(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
 "started": "2026-03-04T05:06:07Z",
 "seconds": 0.65,
 "interval_seconds": 0.1,
 "timeout_seconds": 2,
 "kinds": [
  {
   "kind": "api_new",
   "watched_seconds": 0.55,
   "samples": 6,
   "failed": 4,
   "missed_ticks": 2,
   "gap_count": 2,
   "gaps_open": 1,
   "gap_seconds": 0.35,
   "longest_gap_seconds": 0.2,
   "reasons": {
    "connection refused": 4
   },
   "gaps": [
    {
     "from_seconds": 0.1,
     "to_seconds": 0.3
    },
    {
     "from_seconds": 0.4,
     "to_seconds": 0.55,
     "open": true
    }
   ]
  },
  {
   "kind": "service",
   "watched_seconds": 0.95,
   "samples": 11,
   "failed": 6,
   "missed_ticks": 0,
   "gap_count": 3,
   "gaps_open": 0,
   "gap_seconds": 0.6,
   "longest_gap_seconds": 0.3,
   "reasons": {
    "connection refused": 6
   },
   "nodes": [
    {
     "node": "w1",
     "watched_seconds": 0.5,
     "samples": 6,
     "failed": 3,
     "missed_ticks": 0,
     "gap_count": 2,
     "gaps_open": 0,
     "gap_seconds": 0.3,
     "longest_gap_seconds": 0.2,
     "reasons": {
      "connection refused": 3
     },
     "gaps": [
      {
       "from_seconds": 0.1,
       "to_seconds": 0.2
      },
      {
       "from_seconds": 0,
       "to_seconds": 0.2
      }
     ]
    },
    {
     "node": "w2",
     "watched_seconds": 0.45,
     "samples": 5,
     "failed": 3,
     "missed_ticks": 0,
     "gap_count": 1,
     "gaps_open": 0,
     "gap_seconds": 0.3,
     "longest_gap_seconds": 0.3,
     "reasons": {
      "connection refused": 3
     },
     "gaps": [
      {
       "from_seconds": 0.1,
       "to_seconds": 0.4
      }
     ]
    }
   ]
  }
 ]
}`
	if string(got) != want {
		t.Errorf("JSON is\n%s\nwant\n%s", got, want)
	}
}

func TestReportTable(t *testing.T) {
	r := exampleReport()
	r.Kinds[0].Reasons["http 503"] = 9
	var out strings.Builder
	if err := r.WriteTable(&out); err != nil {
		t.Fatal(err)
	}
	const want = `
KIND     WATCHED  SAMPLES  FAILED  GAPS        SUM   LONGEST  REASONS
api_new  0.6s     6        4       2 (1 open)  0.3s  0.2s     9 http 503, 4 connection refused, sampler missed 2 ticks
service  0.9s     11       6       3           0.6s  0.3s     6 connection refused
  w1     0.5s     6        3       2           0.3s  0.2s     3 connection refused
  w2     0.5s     5        3       1           0.3s  0.3s     3 connection refused
no good sample of api_new from 0.1s to 0.3s
no good sample of api_new from 0.4s to 0.6s (open)
no good sample of service from w1 from 0.1s to 0.2s
no good sample of service from w1 from 0.0s to 0.2s
no good sample of service from w2 from 0.1s to 0.4s
`
	if got := "\n" + out.String(); got != want {
		t.Errorf("the table is\n%s\nwant\n%s", got, want)
	}
}

func TestReportKind(t *testing.T) {
	r := exampleReport()
	if k, ok := r.Kind(KindService); !ok || k.Samples != 11 {
		t.Errorf("service is %+v, %v", k, ok)
	}
	if k, ok := r.Kind(KindAPIReused); ok {
		t.Errorf("unsampled kind: %+v", k)
	}
}
