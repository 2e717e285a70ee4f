// The entry `./tools`: named exports only, each with its contract in TSDoc.

export { enforceableSchema, enforcedFormats } from '../validation/supported-keywords.ts'
export { joinPath, resolvePath } from '../workspace/path.ts'
export { defineTool, type ToolOptions } from './define-tool.ts'
export { type EditFileOptions, editFileTool } from './edit-file.ts'
export { type ListFilesOptions, listFilesTool } from './list-files.ts'
export { type ReadFileOptions, readFileTool } from './read-file.ts'
export { ToolRegistry } from './registry.ts'
export { type SearchToolOptions, searchTool } from './search.ts'
export type { Searcher, SearchMatch, SearchOutcome, SearchQuery } from './searcher.ts'
export { workspaceSearcher } from './workspace-searcher.ts'
export { type WriteFileOptions, writeFileTool } from './write-file.ts'
