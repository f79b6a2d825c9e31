package artifact

import (
	"debug/elf"
	"fmt"
	"os"
)

// machines are the machines of ELF files, as Go names their platforms.
var machines = map[elf.Machine]map[elf.Data]string{
	elf.EM_X86_64:  {elf.ELFDATA2LSB: "amd64"},
	elf.EM_AARCH64: {elf.ELFDATA2LSB: "arm64"},
	elf.EM_PPC64:   {elf.ELFDATA2LSB: "ppc64le"},
	elf.EM_S390:    {elf.ELFDATA2MSB: "s390x"},
}

// PlatformOf reads for which platform a program was made, without running it.
func PlatformOf(path string) (platform string, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("read a program: %w", err)
	}
	defer file.Close()
	header, err := elf.NewFile(file)
	if err != nil {
		return "", fmt.Errorf("it is no ELF program: %w", err)
	}
	arch, known := machines[header.Machine][header.Data]
	switch {
	case header.Type != elf.ET_EXEC && header.Type != elf.ET_DYN:
		return "", fmt.Errorf("it is an ELF file, but no program (%s)", header.Type)
	case header.Class != elf.ELFCLASS64 || !known:
		return "", fmt.Errorf("it was made for machines of another kind (%s, %s)", header.Machine, header.Class)
	case header.OSABI != elf.ELFOSABI_NONE && header.OSABI != elf.ELFOSABI_LINUX:
		return "", fmt.Errorf("it was made for another system (%s)", header.OSABI)
	}
	return platformOf("linux", arch), nil
}
