import type { AgentTool } from 'phi-core'
import { fetchOpenApiTools, readOpenApiTools } from 'phi-core/openapi'
import type { Workspace } from 'phi-core/tools'

/** Creates tools from a document that is split across files in a workspace. */
export function toolsOfFiles(workspace: Workspace, path: string): Promise<AgentTool[]> {
  return readOpenApiTools(path, { workspace, resolve: async (file) => new TextDecoder().decode(await workspace.read(file)) })
}

/** Creates tools from a document that is split across files on the web. */
export function toolsOfWeb(url: string): Promise<AgentTool[]> {
  return fetchOpenApiTools(url, {
    resolve: async (file, { signal }) => {
      const response = await fetch(file, { signal, redirect: 'error' })
      if (!response.ok) throw new Error(`the answer was ${response.status}`)
      return response.text()
    },
  })
}
