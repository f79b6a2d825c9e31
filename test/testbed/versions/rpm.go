package versions

// NFPM builds rpm packages. Later versions need modules that the proxy does not serve.
const NFPM = "v2.45.2"

// RpmRelease is the release of upstream's rpm packages: kubelet-1.36.3-150500.1.1.
const RpmRelease = "150500.1.1"
