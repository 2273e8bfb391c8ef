package views

import "testing"

func TestStorePaths(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, got, want string }{
		{"store", StoreListPath("acme", ShelfStore, StoreFilters{}), "/acme/store"},
		{"mine", StoreListPath("acme", ShelfMine, StoreFilters{Query: "a&b"}), "/acme/store/mine?q=a%26b"},
		{
			"filters", StoreListPath("acme", ShelfStore, StoreFilters{Kinds: []string{"mcp", "code"}, Tags: []string{"data"}, Sort: "newest", Cursor: "c="}),
			"/acme/store?kind=mcp&kind=code&tag=data&sort=newest&cursor=c%3D",
		},
		{"first tab", CapabilityTabPath("acme", "globex", "fx", DetailLens{Tab: TabAbout}), "/acme/store/globex/fx"},
		{
			"lens", CapabilityTabPath("acme", "globex", "fx", DetailLens{Tab: TabSource, Version: "1.0.0", From: "mine"}),
			"/acme/store/globex/fx?tab=source&version=1.0.0&from=mine",
		},
		{"file", CapabilityFilePath("acme", "globex", "fx", DetailLens{}, "a b/c.md", false), "/acme/store/globex/fx?tab=files&file=a+b%2Fc.md"},
		{"download", RawFilePath("acme", "globex", "fx", "1.0.0", "a.md"), "/acme/store/globex/fx/file?version=1.0.0&path=a.md"},
		{"part of a diff", ComparisonPath("acme", "globex", "fx", ComparisonLens{Base: "1.0.0", Skip: 10, From: FromMine, Parts: []DiffPart{{Path: "/spec/code", From: 2000}, {Path: "/spec/files/a@1.md", First: 3, Last: 9}}}),
			"/acme/store/globex/fx?tab=versions&base=1.0.0&skip=10&from=mine&part=%2Fspec%2Fcode%402000&part=%2Fspec%2Ffiles%2Fa%401.md%403-9"},
		{"tags of a version", VersionTagsPath("acme", "globex", "fx", "1.0.0-rc.1"), "/acme/store/globex/fx/versions/1.0.0-rc.1/tags"},
		{"diff", VersionDiffPath("acme", "globex", "fx", "1.0.0", "1.1.0", true), "/acme/store/globex/fx?tab=versions&base=1.0.0&candidate=1.1.0&view=split"},
		{"adopt", AdoptPath("acme", "globex", "fx", "1.0.0"), "/acme/store/globex/fx/adopt?version=1.0.0"},
		{"edit", EditCapabilityPath("acme", "acme", "fx"), "/acme/store/acme/fx/edit"},
		{"manage", ManagePath("acme", "acme", "fx"), "/acme/store/acme/fx/manage"},
		{"copy", CopySkillPath("acme", "globex", "fx"), "/acme/store/globex/fx/copy"},
		{"unadopt", UnadoptPath("acme", "globex", "fx"), "/acme/store/globex/fx/unadopt"},
		{"try", TryPath("acme", "globex", "fx", "1.0.0"), "/acme/store/globex/fx/try?version=1.0.0"},
		{"example", TryExamplePath("acme", "globex", "fx", DetailLens{}, "0"), "/acme/store/globex/fx?tab=try&example=0"},
		{"steps", StoreStepsPath("acme"), "/acme/store/steps"},
		{"unlisted", UnlistedPath("acme"), "/acme/store/unlisted"},
		{"left", LeftPath("acme", "tool", "take"), "/acme/store/left/tool?op=take"},
		{"import", ImportPath("acme"), "/acme/store/import"},
		{"export", ExportPath("acme", "globex", "fx", "1.0.0", "skill"), "/acme/store/globex/fx/export?version=1.0.0&format=skill"},
		{"what was sent", StagedImportPath("acme", "1f", ""), "/acme/imports/1f"},
		{"a part of it", StagedImportPath("acme", "1f", "new"), "/acme/imports/1f?show=new"},
	} {
		if tt.got != tt.want {
			t.Errorf("%s: %s, want %s", tt.name, tt.got, tt.want)
		}
	}
}
