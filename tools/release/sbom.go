package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"os"
	"regexp"
	"time"

	"github.com/spdx/tools-golang/json"
	"github.com/spdx/tools-golang/spdx"
	"github.com/spdx/tools-golang/spdx/v2/common"
	"github.com/spdx/tools-golang/spdxlib"
)

const noAssertion = "NOASSERTION" // SPDX: not known

// sbom writes the bill of materials of a binary in the JSON of SPDX 2.3: the binary, and each module in it.
func (r release) sbom(a arch, modules []linked) error {
	binary, err := os.ReadFile(r.binary(a))
	if err != nil {
		return err
	}
	sum := sha256.Sum256(binary)
	doc := &spdx.Document{
		SPDXVersion: spdx.Version, DataLicense: spdx.DataLicense, SPDXIdentifier: "DOCUMENT",
		DocumentName: r.archiveName(a), DocumentNamespace: fmt.Sprintf("%s/spdx/%s-%x", r.home, r.archiveName(a), sum),
		CreationInfo: &spdx.CreationInfo{
			Created:  r.at.Format(time.RFC3339),
			Creators: []spdx.Creator{{CreatorType: "Tool", Creator: "tare-release"}, {CreatorType: "Organization", Creator: "tare"}},
		},
	}
	own := r.packageOf("tare", r.version, "Apache-2.0")
	own.PackageFileName = "tare"
	own.PackageDownloadLocation = r.download(r.archiveName(a) + ".tar.gz")
	own.PackageHomePage = r.home
	own.PrimaryPackagePurpose = "APPLICATION"
	own.PackageChecksums = []spdx.Checksum{{Algorithm: spdx.SHA256, Value: fmt.Sprintf("%x", sum)}}
	doc.Packages = append(doc.Packages, own)
	relate(doc, "DOCUMENT", spdx.RelationshipDescribes, own.PackageSPDXIdentifier)
	for _, m := range modules {
		p := r.packageOf(m.path, m.version, m.licence)
		locator := fmt.Sprintf("pkg:golang/%s@%s", m.path, m.version)
		if m.path == "std" {
			locator = "pkg:golang/stdlib@" + m.version
		}
		p.PackageExternalReferences = []*spdx.PackageExternalReference{{
			Category: spdx.CategoryPackageManager, RefType: spdx.PackageManagerPURL, Locator: locator,
		}}
		doc.Packages = append(doc.Packages, p)
		relate(doc, own.PackageSPDXIdentifier, spdx.RelationshipContains, p.PackageSPDXIdentifier)
	}
	if err := spdxlib.ValidateDocument(doc); err != nil {
		return fmt.Errorf("bill of materials: %w", err)
	}
	var b bytes.Buffer
	if err := json.Write(doc, &b, json.Indent(" ")); err != nil {
		return fmt.Errorf("bill of materials: %w", err)
	}
	return r.create(r.archiveName(a)+".spdx.json", append(b.Bytes(), '\n'))
}

// notInID matches what an identifier of SPDX may not contain.
var notInID = regexp.MustCompile(`[^A-Za-z0-9.-]+`)

func (r release) packageOf(name, version, licence string) *spdx.Package {
	return &spdx.Package{
		PackageName: name, PackageVersion: version,
		PackageSPDXIdentifier:   spdx.ElementID("Package-" + notInID.ReplaceAllString(name, "-")),
		PackageDownloadLocation: noAssertion, PackageCopyrightText: noAssertion,
		PackageLicenseConcluded: noAssertion, PackageLicenseDeclared: cmp.Or(licence, noAssertion),
		IsFilesAnalyzedTagPresent: true,
	}
}

func relate(doc *spdx.Document, from spdx.ElementID, kind string, to spdx.ElementID) {
	doc.Relationships = append(doc.Relationships, &spdx.Relationship{
		RefA: common.MakeDocElementID("", string(from)), RefB: common.MakeDocElementID("", string(to)), Relationship: kind,
	})
}

// download is the address of a file of the release.
func (r release) download(file string) string {
	return fmt.Sprintf("%s/releases/download/%s/%s", r.home, r.version, file)
}
