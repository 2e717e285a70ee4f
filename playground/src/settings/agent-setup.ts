import { opfsWorkspace } from '../../../adapters/browser/index.ts'
import { compactsAt, contextLimitOf, unknownCost } from '../../../src/context.ts'
import type { AgentTool } from '../../../src/index.ts'
import {
  editFileTool,
  listFilesTool,
  memoryWorkspace,
  prunTools,
  readFileTool,
  revertTool,
  searchTool,
  type Workspace,
  writeFileTool,
} from '../../../src/tools.ts'
import { files } from '../demo/files.ts'
import type { McpOfSettings } from '../mcp/mcp-servers.ts'
import { makeModel } from '../models/make-model.ts'
import type { AgentSetup } from '../state/backend/local-backend.ts'
import { ownTools } from '../tools/own/own-tool.ts'
import { toolSnippets } from '../tools/own/snippets.ts'
import { plainOptions } from './agent-options.ts'
import type { Settings, ToolName } from './settings.ts'
import { workspaceNote } from './workspace-note.ts'

/** Sets up the agents of this tab according to the settings. Loads everything they need, so that a conversation can start immediately. */
export async function agentSetup(settings: Settings): Promise<() => AgentSetup> {
  const [model, workspace, mcp] = await Promise.all([makeModel(settings.model), openWorkspace(), mcpOf(settings)])
  const plain = plainOptions(settings)
  const builtIn = toolsOf(settings, workspace)
  const tools = [...builtIn, ...ownTools(toolSnippets.value, builtIn)]
  const { name, id, cost } = model.config
  const contextTokens = settings.compaction.maxContextTokens || contextLimitOf(model.config)
  const compacts = compactsAt(plain.contextConfig, model.config) ?? contextTokens
  const facts = { name: name || id, isScripted: false, contextTokens, compactsAt: compacts, cost: cost ?? unknownCost }
  const options = { ...plain, model, workspace, captureTurnRequests: { httpBody: true } }
  const warning = mcp.failures.join(' ')
  return () => ({
    options: { ...options, tools: [...tools, ...mcp.tools()] },
    model: facts,
    mentions: mcp.mentions,
    ...(warning !== '' && { warning }),
  })
}

/** Loaded with the first enabled server. */
let mcpServers: Promise<typeof import('../mcp/mcp-servers.ts')> | undefined

/** Returns the enabled MCP servers' tools, and disconnects from disabled servers. */
async function mcpOf(settings: Settings): Promise<McpOfSettings> {
  if (settings.mcpServers.some(({ isOn }) => isOn)) mcpServers ??= import('../mcp/mcp-servers.ts')
  return (await mcpServers)?.mcpServerTools(settings) ?? { tools: () => [], failures: [] }
}

/** Returns the selected built-in tools in display order. */
export function toolsOf({ tools, asksBeforeWriting }: Pick<Settings, 'tools' | 'asksBeforeWriting'>, workspace: Workspace): AgentTool[] {
  const guarded = <Tool extends AgentTool>(tool: Tool) => (asksBeforeWriting ? { ...tool, needsApproval: true } : tool)
  const makers: Record<ToolName, () => AgentTool[]> = {
    list_files: () => [listFilesTool({ workspace })],
    read_file: () => [readFileTool({ workspace })],
    search: () => [searchTool({ workspace })],
    write_file: () => [guarded(writeFileTool({ workspace }))],
    edit_file: () => [guarded(editFileTool({ workspace }))],
    prun: () => prunTools(),
    revert: () => [revertTool()],
  }
  return tools.flatMap((name) => makers[name]())
}

/** Returns a workspace in this origin's browser storage, or in memory if unavailable. A new workspace contains a small logbook. */
export async function openWorkspace(): Promise<Workspace> {
  const kept = opfsWorkspace({ directory: 'phi-playground' })
  try {
    if ((await kept.list('.')).length === 0) {
      for (const [path, text] of Object.entries(files)) {
        if (!path.startsWith('archive/')) await kept.write(path, new TextEncoder().encode(text))
      }
    }
    workspaceNote.value = 'This browser stores the files for this page (OPFS).'
    return kept
  } catch {
    workspaceNote.value = 'This browser has no file system for pages. Files are in memory and lost after a reload.'
    return memoryWorkspace(files)
  }
}
