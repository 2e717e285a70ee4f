/**
 * Defines tools: file tools for a workspace, tool search, client tools, skills and argument validators.
 *
 * @example
 * ```ts
 * const agent = new Agent({ model, tools: [readFileTool({ workspace }), editFileTool({ workspace })] })
 * ```
 *
 * @module
 */

export { WorkspaceError, type WorkspaceErrorCode } from './contract/errors.ts'
export type { ToolExecutionStrategy } from './contract/run/settings.ts'
export { mcpTools } from './mcp/tool-set.ts'
export { SkillError, type SkillErrorCode } from './skills/frontmatter.ts'
export { type LoadSkillsOptions, loadSkillDir, loadSkills } from './skills/load-skills.ts'
export { parseSkill } from './skills/parse-skill.ts'
export { type ClientToolOptions, clientTool } from './tools/client-tool.ts'
export type { ToolOptions } from './tools/define-tool.ts'
export { editFileTool } from './tools/files/edit-file.ts'
export { listFilesTool } from './tools/files/list-files.ts'
export { readFileTool } from './tools/files/read-file.ts'
export { writeFileTool } from './tools/files/write-file.ts'
export { prunTools } from './tools/prun-tools.ts'
export { ToolRegistry } from './tools/registry.ts'
export { revertTool } from './tools/revert-tool.ts'
export { searchTool } from './tools/search/search.ts'
export type { Searcher, SearchMatch, SearchOutcome, SearchQuery } from './tools/search/searcher.ts'
export { workspaceSearcher } from './tools/search/workspace-searcher.ts'
export { toolSearch } from './tools/tool-search.ts'
export type { SchemaIssue, SchemaResult, SchemaValidator } from './types/standard-schema.ts'
export type { Skill, SkillSet } from './types/tool/skills.ts'
export type { ClientRun, ToolParameters } from './types/tool/tool.ts'
export type { Workspace, WorkspaceEntry, WorkspaceStat } from './types/tool/workspace.ts'
export { type AjvClass, ajvValidator } from './validation/ajv-validator.ts'
export { enforceableSchema } from './validation/enforceable-schema.ts'
export { type LinearPattern, linearPattern } from './validation/linear-pattern.ts'
export { memoryWorkspace } from './workspace/memory-workspace.ts'
export { joinPath, resolvePath } from './workspace/workspace-rules.ts'
