//go:build e2e

package agent

import "testing"

// fault is the context in which one fault runs.
type fault struct {
	t *testing.T
	s *scene
}

// TestAgentFaults injects the faults that the agent must survive into real components. Each has the
// number that it has in the list of faults.
func TestAgentFaults(t *testing.T) {
	s := &scenes{t: t}
	for _, f := range []struct {
		name  string
		where func() *scene
		what  func(fault)
	}{
		{"F16_the_agent_is_killed_in_renames", s.onWorker, killedInRenames},
		{"F17_the_node_reboots_in_a_step", s.onControlPlane, rebootsInAStep},
		{"F17_the_node_boots_and_neither_kubelet_nor_API_are_there", s.onWorker, bootsAlone},
		{"F18_power_is_lost_while_programs_are_swapped", s.onWorker, powerLostInSwap},
		{"F19_a_manifest_is_gone_that_Refit_did_not_remove", s.onControlPlane, manifestGone},
		{"F19_every_manifest_is_there_at_every_moment", s.onControlPlane, manifestsAlwaysThere},
		{"F20_no_copy_of_etcd_and_no_write_lost", s.onControlPlane, noWriteLost},
		{"F21_etcd_of_a_single_node_again_and_again", s.onControlPlane, singleEtcdAgain},
		{"F22_half_done_with_a_new_etcd_and_an_old_API_server", s.onControlPlane, halfDone},
		{"F23_the_disk_is_full_before_anything_is_fetched", s.onControlPlane, fullBeforeFetch},
		{"F23_the_disk_fills_before_the_first_change", s.onWorker, fullBeforeChange},
		{"F23_the_disk_fills_in_the_change", s.onWorker, fullInChange},
		{"F24_the_disk_goes_read_only", s.onWorker, readOnly},
		{"F25_one_source_flips_bytes", s.onControlPlane, oneSourceFlips},
		{"F25_one_source_cuts_files_short", s.onControlPlane, oneSourceCuts},
		{"F25_every_source_flips_bytes", s.onControlPlane, everySourceFlips},
		{"F26_a_program_for_another_machine", s.onControlPlane, otherMachine},
		{"F26_a_program_of_another_version", s.onControlPlane, otherVersion},
		{"F27_no_source_and_an_image_gone_after_the_fetch", s.onControlPlane, imageGone},
		{"F28_the_kubelet_collects_images", s.onControlPlane, imagesCollected},
		{"F29_a_removed_flag_is_found_before_the_change", s.onHop, removedFlagFound},
		{"F29_a_kubelet_that_cannot_start", s.onWorker, kubeletCannotStart},
		{"F31_containerd_is_killed_in_a_step", s.onControlPlane, containerdKilled},
		{"F32_a_second_agent", s.onWorker, secondAgent},
		{"F33_an_order_of_a_newer_format", s.onWorker, newerFormat},
		{"F34_etcd_is_restored_from_a_backup", s.onWorker, etcdRestored},
		{"F36_an_expired_certificate", s.onControlPlane, expiredCertificate},
		{"F45_an_API_server_that_cannot_start", s.onControlPlane, apiServerCannotStart},
		{"F45_an_API_server_that_cannot_start_after_a_new_minor_of_etcd", s.onHop, apiServerCannotStartOnNewEtcd},
		{"F48_somebody_replaced_a_program_in_the_change", s.onWorker, replacedInChange},
		{"F48_somebody_replaced_a_program_after_the_change", s.onHop, replacedAfterChange},
	} {
		t.Run(f.name, func(t *testing.T) { f.what(fault{t, f.where()}) })
	}
}
