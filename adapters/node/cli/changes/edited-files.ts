import { type AgentTool, type JsonObject, ToolError } from '../../../../src/index.ts'
import { editFileTool, readFileTool, type Workspace, writeFileTool } from '../../../../src/tools.ts'
import type { FileSnapshots } from './file-snapshots.ts'
import { isEditing, type Proposal, proposalOf, versionOf } from './proposed-change.ts'

/** A call with a pending approval. */
interface AskedCall {
  toolCallId: string
  toolName: string
  args: JsonObject
}

/**
 * Wraps the tools that change files. Each call requires an approval and can be shown as a diff. Takes a snapshot before each change.
 *
 * **Contract**
 * - Applies only the displayed change. If the file has changed since then, the call fails with an explanation.
 * - Stores the old content in `snapshots` before a change. If that fails, does not change the file.
 */
export class EditedFiles {
  readonly #workspaces = new Map<string, Workspace>()
  readonly #snapshots: FileSnapshots
  /** Shown changes by call. */
  readonly #shown = new Map<string, Proposal>()
  /** The user's text, which replaces the call's text. */
  readonly #amended = new Map<string, string>()

  readonly #through: ((workspace: Workspace) => Workspace) | undefined

  /** If `through` is given, tools that change one file use its view of the workspace. */
  constructor(snapshots: FileSnapshots, through?: (workspace: Workspace) => Workspace) {
    this.#snapshots = snapshots
    this.#through = through
  }

  /** Returns a workspace's tools, and wraps those that change files. */
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

  /**
   * Returns the change that a call would make. The call is then limited to this change. Returns `undefined` for a call without a file
   * change, and if tools work in several folders.
   */
  async propose(call: AskedCall, signal: AbortSignal): Promise<Proposal | undefined> {
    const [workspace, ...others] = this.#workspaces.values()
    if (!isEditing(call.toolName) || workspace === undefined || others.length > 0) return undefined
    const proposal = await proposalOf(call.toolName, call.args, workspace, signal)
    if (proposal !== undefined) this.#shown.set(call.toolCallId, proposal)
    return proposal
  }

  /** Replaces the text that a displayed call writes. */
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
          throw new ToolError('failed', `${path} changed while the user reviewed the edit, so nothing was written. Read it again.`)
        return this.#snapshots.around({ workspace, path, signal }, async () => {
          if (amended === undefined) return tool.execute(args, ctx)
          const bytes = new TextEncoder().encode(amended)
          await workspace.write(path, bytes, { ifMatch: shown?.version ?? null, signal })
          return `The user modified your edit before it was written. Read ${path} to see the result.`
        })
      },
    }
  }
}
