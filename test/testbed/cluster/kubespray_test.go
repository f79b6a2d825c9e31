package cluster

import (
	"strings"
	"testing"
)

func TestKubeletOfKubesprayHasTheCgroupDriverOfTheMachine(t *testing.T) {
	c := specOf(t, func(s *Spec) { s.Layout = LayoutKubespray })
	for _, driver := range []string{"cgroupfs", "systemd"} {
		files, err := c.Nodes()[0].kubesprayFiles(driver)
		if err != nil {
			t.Fatal(err)
		}
		config := string(files["/etc/kubernetes/kubelet-config.yaml"])
		if !strings.Contains(config, "\ncgroupDriver: "+driver+"\n") {
			t.Errorf("want the driver %s:\n%s", driver, config)
		}
	}
}
