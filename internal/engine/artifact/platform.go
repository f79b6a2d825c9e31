package artifact

import (
	"debug/elf"
	"fmt"
	"os"
)

// machines maps the machine types of ELF files to architectures of Go.
var machines = map[elf.Machine]map[elf.Data]string{
	elf.EM_X86_64:  {elf.ELFDATA2LSB: "amd64"},
	elf.EM_AARCH64: {elf.ELFDATA2LSB: "arm64"},
	elf.EM_PPC64:   {elf.ELFDATA2LSB: "ppc64le"},
	elf.EM_S390:    {elf.ELFDATA2MSB: "s390x"},
}

// PlatformOf returns the platform of a binary without running it.
func PlatformOf(path string) (platform string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("cannot read the binary: %w", err)
	}
	defer file.Close()
	header, err := elf.NewFile(file)
	if err != nil {
		return "", fmt.Errorf("not an ELF binary: %w", err)
	}
	arch, known := machines[header.Machine][header.Data]
	switch {
	case header.Type != elf.ET_EXEC && header.Type != elf.ET_DYN:
		return "", fmt.Errorf("an ELF file, but not an executable (%s)", header.Type)
	case header.Class != elf.ELFCLASS64 || !known:
		return "", fmt.Errorf("built for an unsupported machine (%s, %s)", header.Machine, header.Class)
	case header.OSABI != elf.ELFOSABI_NONE && header.OSABI != elf.ELFOSABI_LINUX:
		return "", fmt.Errorf("built for another operating system (%s)", header.OSABI)
	}
	return platformOf("linux", arch), nil
}
