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
import { makeModel } from '../models/make-model.ts'
import type { AgentSetup } from '../state/backend/local-backend.ts'
import { ownTools } from '../tools/own/own-tool.ts'
import { toolSnippets } from '../tools/own/snippets.ts'
import { plainOptions } from './agent-options.ts'
import type { Settings, ToolName } from './settings.ts'
import { workspaceNote } from './workspace-note.ts'

/** Agents of this tab as the settings have them. Loads what they need now, so that a conversation can begin at once. */
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
  return () => ({ options: { ...options, tools: [...tools, ...mcp.tools()] }, model: facts, ...(warning !== '' && { warning }) })
}

/** Loaded with the first server that is on. */
let mcpServers: Promise<typeof import('../mcp/mcp-servers.ts')> | undefined

/** Tools of the MCP servers that are on. Those that are off now are let go. */
async function mcpOf(settings: Settings): Promise<{ tools: () => AgentTool[]; failures: string[] }> {
  if (settings.mcpServers.some(({ isOn }) => isOn)) mcpServers ??= import('../mcp/mcp-servers.ts')
  return (await mcpServers)?.mcpServerTools(settings) ?? { tools: () => [], failures: [] }
}

/** The built-in tools that were chosen, in the order in which they are offered. */
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

/** The files of this origin in browser storage; in memory if unavailable. A new one gets a small logbook. */
export async function openWorkspace(): Promise<Workspace> {
  const kept = opfsWorkspace({ directory: 'phi-playground' })
  try {
    if ((await kept.list('.')).length === 0) {
      for (const [path, text] of Object.entries(files)) {
        if (!path.startsWith('archive/')) await kept.write(path, new TextEncoder().encode(text))
      }
    }
    workspaceNote.value = 'Files are kept by this browser, for this page (OPFS).'
    return kept
  } catch {
    workspaceNote.value = 'This browser has no file system for pages: files are in memory, and gone after a reload.'
    return memoryWorkspace(files)
  }
}
