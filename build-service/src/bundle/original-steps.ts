/** Step types of the Python original that no version of ours runs yet (5-run §8.5): refused as such, by name. */
const STEPS_OF_THE_ORIGINAL = new Set([
  "add_skills",
  "build_mcp_cli",
  "collect_artifacts",
  "combine_universe_verdicts",
  "deploy_human_agent",
  "install_agent",
  "register_agent_triggers",
  "review",
  "snapshot_agent_state",
  "snapshot_env",
  "validation_gate_aggregator",
  "verify_a2a_agent_card",
  "verify_a2a_agent_config_identity",
  "verify_a2a_agent_mcp",
  "verify_a2a_core_protocol",
  "verify_a2a_install",
  "verify_a2a_modalities",
  "verify_a2a_peer_agents",
  "verify_a2a_role",
  "verify_a2a_skill_config",
  "verify_a2a_snapshot",
  "verify_a2a_system_prompt",
  "verify_a2a_trajectory",
  "verify_mcp_env_assessment",
  "verify_mcp_tool_schema",
  "verify_spec_conformance",
  "verify_universe_load_export_roundtrip",
]);

/** Whether a step type is one of the original's. Asked only for types that aren't registered. */
export function isStepOfOriginal(type: string): boolean {
  return STEPS_OF_THE_ORIGINAL.has(type);
}
