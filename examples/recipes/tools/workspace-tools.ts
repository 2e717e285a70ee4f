import type { AgentTool } from 'phi-core'
import { editFileTool, listFilesTool, memoryWorkspace, readFileTool, searchTool, type Workspace, writeFileTool } from 'phi-core/tools'

/** The file tools over files that live in memory: this runs in a browser tab as well as in a Worker. */
export function fileTools(workspace: Workspace = memoryWorkspace({ 'notes.md': '# Notes\n' })): AgentTool[] {
  return [
    readFileTool({ workspace }),
    writeFileTool({ workspace }),
    editFileTool({ workspace }),
    listFilesTool({ workspace }),
    searchTool({ workspace }),
  ]
}
