/**
 * Agents as tools of other agents. Not part of the core bundle.
 *
 * @module
 */
export { isSubAgentTool } from './sub-agent-brand.ts'
export { type SubAgentOptions, SubAgentTool } from './sub-agent-tool.ts'
