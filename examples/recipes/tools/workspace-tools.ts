import type { AgentTool } from 'phi-core'
import { editFileTool, listFilesTool, memoryWorkspace, readFileTool, searchTool, type Workspace, writeFileTool } from 'phi-core/tools'

/** Creates file tools for an in-memory workspace, which also works in a browser tab or a Worker. */
export function fileTools(workspace: Workspace = memoryWorkspace({ 'notes.md': '# Notes\n' })): AgentTool[] {
  return [
    readFileTool({ workspace }),
    writeFileTool({ workspace }),
    editFileTool({ workspace }),
    listFilesTool({ workspace }),
    searchTool({ workspace }),
  ]
}
