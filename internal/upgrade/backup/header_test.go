package backup

import (
	"errors"
	"testing"
)

func TestHeaderBindsAPartToItsBackup(t *testing.T) {
	want := testManifest().Header(PartEtcd)
	if err := want.Check(want.Encode()); err != nil {
		t.Fatal(err)
	}
	for situation, tt := range map[string]struct {
		raw  []byte
		want error
	}{
		"another cluster":  {Header{ClusterUID: otherUID, ID: testID, Part: PartEtcd}.Encode(), ErrOther},
		"another backup":   {Header{ClusterUID: testCluster, ID: ID{otherUID, 2}, Part: PartEtcd}.Encode(), ErrOther},
		"earlier attempt":  {Header{ClusterUID: testCluster, ID: ID{testUID, 1}, Part: PartEtcd}.Encode(), ErrOther},
		"another part":     {Header{ClusterUID: testCluster, ID: testID, Part: PartHost}.Encode(), ErrOther},
		"no header":        {[]byte("SQLite format 3"), ErrCorrupt},
		"empty":            {nil, ErrCorrupt},
		"text after it":    {append(want.Encode(), 'x'), ErrCorrupt},
		"magic of another": {append([]byte("X"), want.Encode()[1:]...), ErrCorrupt},
	} {
		if err := want.Check(tt.raw); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", situation, err, tt.want)
		}
	}
}

func TestHeaderFitsItsLimit(t *testing.T) {
	h := Header{ClusterUID: testCluster, ID: ID{testUID, MaxAttempt}, Part: PartHost}
	if err := ValidHeader(h); err != nil || len(h.Encode()) > MaxHeader {
		t.Errorf("%d bytes, %v", len(h.Encode()), err)
	}
	for situation, invalid := range map[string]Header{
		"no cluster":          {ID: testID, Part: PartEtcd},
		"no backup":           {ClusterUID: testCluster, Part: PartEtcd},
		"part with a newline": {ClusterUID: testCluster, ID: testID, Part: "a\nb"},
	} {
		if ValidHeader(invalid) == nil {
			t.Errorf("%s: accepted", situation)
		}
	}
}
