import { aLogger, aModel, aSkillSet, aStore, aWorkspace, someTools } from '../base/argument-checks.ts'
import { aFlag, aFunction, anything, either, options as optionsOf, recordOf, type Shape } from '../contract/shape/shape.ts'
import type { McpCallTimeouts, McpToolSet } from '../mcp/tool-set.ts'
import type { Logger } from '../types/logger.ts'
import type { Model } from '../types/model/model.ts'
import type { AgentPlugin } from '../types/run/hooks.ts'
import type { HookScripts, LoopHooks } from '../types/run/turn.ts'
import type { SessionStore } from '../types/session/session-store.ts'
import type { SkillSet } from '../types/tool/skills.ts'
import type { AgentTool } from '../types/tool/tool.ts'
import type { Workspace } from '../types/tool/workspace.ts'
import type { ModelSection } from './schema/model-sections.ts'

/** Workspace of an agent. */
export interface AgentPlace {
  /** Path as in the file. Default: `.`. */
  path: string
  /** The host's workspace for this path, if it provides one. */
  workspace?: Workspace
}

/** Workspace and names of the tools that the host should provide. */
export interface ToolPlace extends AgentPlace {
  /** Tool names in the file; no others are needed. */
  names: readonly string[]
}

/** An MCP server of a file with its variables substituted. */
export type McpServerConfig = { name: string; include?: readonly string[] } & McpCallTimeouts &
  (
    | {
        transport: 'stdio'
        command: string
        args: readonly string[]
        env: Readonly<Record<string, string>>
        cwd: string
        /** Folders within `cwd`, relative to it, that the server should be limited to. */
        roots?: readonly string[]
      }
    | { transport: 'http'; url: string; headers: Readonly<Record<string, string>> }
  )

/**
 * A permission that a file needs from the user who runs it.
 *
 * - Runs a script, a server or a plugin.
 * - Reads or works outside of the workspace.
 * - Fetches from hosts that it names.
 * - Sends prompts, file contents or environment values to an unknown host.
 */
export interface TrustRequest {
  kind: 'script' | 'server' | 'plugin' | 'file' | 'workspace' | 'endpoint' | 'media' | 'variable'
  /** Path of the setting, such as `callbacks.before_turn`. */
  field: string
  /** The command, path, URL or variables as written in the file, unescaped and not shortened. */
  what: string
}

/** Platform features for agent files. All are optional. A section that needs a missing one fails with `ConfigError` `unsupported`. */
export interface ConfigHost {
  /** Values for `${VARIABLES}`. */
  env?: Readonly<Record<string, string | undefined>>
  /** Returns the workspace for a path in the file. A single workspace is the root; paths in the file are relative to it. */
  workspace?: Workspace | ((path: string) => Workspace | Promise<Workspace>)
  /** Tools by name. Default: file tools over the workspace. `prun` and `revert` are always available. */
  tools?: Iterable<AgentTool> | ((place: ToolPlace) => Iterable<AgentTool> | Promise<Iterable<AgentTool>>)
  /** Stores conversations for `scope = "persistent"`. */
  sessions?: SessionStore
  /** Sends model requests. Default: the global `fetch`. */
  fetch?: typeof fetch
  /** Skills in addition to `[skills]`; these take precedence. */
  skills?: SkillSet
  /** Decides what the file may do: everything, nothing, or each request by a function. Default: `false`. */
  trust?: boolean | ((request: TrustRequest) => boolean | Promise<boolean>)
  /** Creates hooks from scripts. Script paths are relative to the agent's workspace. */
  scriptHooks?(scripts: HookScripts, place: AgentPlace): LoopHooks
  /**
   * Loads the module in `[agent] plugins` and returns its plugins. `path` has its variables substituted. Called only with trust. A
   * rejection is reported with its position in the file.
   */
  loadPlugin?(path: string): Promise<readonly AgentPlugin[]>
  /** Connects to a server and returns its tools. The set is closed together with the agent. */
  connectMcp?(server: McpServerConfig): Promise<McpToolSet>
  /** Reads a `file:` outside of the workspace. Called only with trust. */
  readFile?(path: string): Promise<string>
  /** Models of the host, which files refer to as `{{#id#}}`. */
  models?: Readonly<Record<string, Model>>
  /** Creates the model of a section instead of the provider's factory, for scripted models. Return `undefined` to use the factory. */
  createModel?(section: ModelSection): Model | undefined | Promise<Model | undefined>
  /** Logger of the agents and their parts. Default: the console; `false` disables it. */
  logger?: Logger | false
}

/** Option table of a host. */
export const configHost: Shape = optionsOf<ConfigHost>({
  env: recordOf(anything),
  workspace: either(aWorkspace, aFunction),
  tools: either(someTools, aFunction),
  sessions: aStore,
  fetch: aFunction,
  skills: aSkillSet,
  trust: either(aFlag, aFunction),
  scriptHooks: aFunction,
  loadPlugin: aFunction,
  connectMcp: aFunction,
  readFile: aFunction,
  models: recordOf(aModel),
  createModel: aFunction,
  logger: aLogger,
})
