import { type AgentTool, type JsonObject, ToolError } from '../../../../src/index.ts'
import { editFileTool, readFileTool, type Workspace, writeFileTool } from '../../../../src/tools.ts'
import type { FileSnapshots } from './file-snapshots.ts'
import { isEditing, type Proposal, proposalOf, versionOf } from './proposed-change.ts'

/** A call, as it is asked about. */
interface AskedCall {
  toolCallId: string
  toolName: string
  args: JsonObject
}

/**
 * The tools that change files, watched: each call asks first, what it would do can be shown, and what was there is kept.
 *
 * **Contract**
 * - What was shown is what is done: where the file has changed since, the call fails and says so.
 * - Before a file is changed, what is there is kept in `snapshots`; where that fails, the file is not changed.
 */
export class EditedFiles {
  readonly #workspaces = new Map<string, Workspace>()
  readonly #snapshots: FileSnapshots
  /** What was shown, by call. */
  readonly #shown = new Map<string, Proposal>()
  /** What a person wrote in place of what a call would write. */
  readonly #amended = new Map<string, string>()

  readonly #through: ((workspace: Workspace) => Workspace) | undefined

  /** With `through`, tools that read or write one file do so through what it makes of the workspace. */
  constructor(snapshots: FileSnapshots, through?: (workspace: Workspace) => Workspace) {
    this.#snapshots = snapshots
    this.#through = through
  }

  /** These tools of a workspace, those that change files watched. */
  watched(tools: Iterable<AgentTool>, given: Workspace): AgentTool[] {
    const workspace = this.#through?.(given) ?? given
    const own = this.#through === undefined ? [] : [readFileTool({ workspace }), writeFileTool({ workspace }), editFileTool({ workspace })]
    this.#workspaces.set(workspace.root, workspace)
    this.#snapshots.knows(workspace)
    return [...tools].map((tool) => {
      const reached = own.find(({ name }) => name === tool.name) ?? tool
      return isEditing(tool.name) ? this.#watch(reached, workspace) : reached
    })
  }

  /** What a call would do, and from now on may do alone; `undefined` for one that changes no file, and where tools work in several places. */
  async propose(call: AskedCall, signal: AbortSignal): Promise<Proposal | undefined> {
    const [workspace, ...others] = this.#workspaces.values()
    if (!isEditing(call.toolName) || workspace === undefined || others.length > 0) return undefined
    const proposal = await proposalOf(call.toolName, call.args, workspace, signal)
    if (proposal !== undefined) this.#shown.set(call.toolCallId, proposal)
    return proposal
  }

  /** Has a call that was shown write `text` in place of its own. */
  amend(toolCallId: string, text: string): void {
    this.#amended.set(toolCallId, text)
  }

  #watch(tool: AgentTool, workspace: Workspace): AgentTool {
    return {
      ...tool,
      needsApproval: true,
      execute: async (args, ctx) => {
        const { toolCallId, signal } = ctx
        const { path }: { path?: unknown } = Object(args) // checked by the tool
        const shown = this.#shown.get(toolCallId)
        const amended = this.#amended.get(toolCallId)
        this.#shown.delete(toolCallId)
        this.#amended.delete(toolCallId)
        if (typeof path !== 'string') return tool.execute(args, ctx)
        if (shown !== undefined && (await versionOf(path, workspace, signal)) !== shown.version)
          throw new ToolError('failed', `${path} was changed while the user looked at the change; nothing was written. Read it again.`)
        return this.#snapshots.around({ workspace, path, signal }, async () => {
          if (amended === undefined) return tool.execute(args, ctx)
          const bytes = new TextEncoder().encode(amended)
          await workspace.write(path, bytes, { ifMatch: shown?.version ?? null, signal })
          return `The user changed what you wanted to write before it was written. Read ${path} to see what is there now.`
        })
      },
    }
  }
}
