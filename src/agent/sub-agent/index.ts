/**
 * Agents as tools of other agents. Not part of the core bundle.
 *
 * @module
 */
export { isSubAgentTool, type SubAgentOptions, SubAgentTool } from './sub-agent-tool.ts'
