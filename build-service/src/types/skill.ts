import { lastSegment, SkillRecord, tableOf } from "@agent-env/protocol";
import { z } from "zod";
import { fileUniverseBody, fileUniverseSuffixes } from "./file-universe-body.ts";
import { readFrontMatter } from "./skill-front-matter.ts";
import type { ArtifactType } from "./type.ts";

const Fields = z.object({
  name: z.string(),
  description: z.string(),
  license: z.string().nullable(),
  compatibility: z.string().nullable(),
  allowed_tools: z.string().nullable(),
  metadata: tableOf(z.string()),
});

/** The suffix of the id that a skill's files have together. */
const FILES = "files";

/** Instructions for agents: a SKILL.md that says what they are for, and what belongs to it. It has no toml. */
export const skill: ArtifactType = {
  kind: "artifact",
  type: "skill",
  hasToml: false,
  tomlKeys: {},
  tomlRefs: [],
  accept(_config, context) {
    const fields = context.accepted();
    const skillMd = context.files().find(({ path }) => path === "SKILL.md");
    if (skillMd === undefined) return fields;
    const read = readFrontMatter(skillMd.disk);
    if ("problems" in read) {
      for (const message of read.problems) context.problem("skill-md", message, "entry");
      return fields;
    }
    const { name, description, license = null, compatibility = null, "allowed-tools": allowed_tools = null, metadata = {} } = read.value;
    const folder = lastSegment(context.id);
    if (name !== folder) {
      const message = `SKILL.md: name: ${JSON.stringify(name)} is not the folder's name, ${JSON.stringify(folder)}: make them one`;
      context.problem("skill-md", message, "entry");
    }
    return { name, description, license, compatibility, allowed_tools, metadata };
  },
  writes: "folder",
  childSuffixes: (_fields, files) => [FILES, ...fileUniverseSuffixes(files, `${FILES}__`)],
  async writeFolder(fields, folder) {
    const { name, description, license, compatibility, allowed_tools, metadata } = Fields.parse(fields);
    const files = await folder.child(FILES, "file_artifact_universe", await fileUniverseBody(folder, `${FILES}__`));
    const objectUrl = await folder.archive();
    return {
      skill_files_id: files.id,
      skill_object_url: objectUrl,
      skill_s3_url: objectUrl,
      agent_skills_spec_version: "0.1",
      skill_name: name,
      description,
      license,
      compatibility,
      allowed_tools,
      skill_metadata: metadata,
    };
  },
  read(record) {
    const { skill_name, description, license, compatibility, allowed_tools, skill_metadata } = SkillRecord.parse(record);
    return { name: skill_name, description, license, compatibility, allowed_tools, metadata: skill_metadata };
  },
  async export(record, out) {
    await out.archive(SkillRecord.parse(record).skill_object_url);
    return {};
  },
};
