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

/** An agent's workspace. */
export interface AgentPlace {
  /** Path as in the file. Default: `.`. */
  path: string
  /** The host's workspace for this path, if it provides one. */
  workspace?: Workspace
}

/** Workspace and names of the requested tools. */
export interface ToolPlace extends AgentPlace {
  /** Tool names in the file. The host need not provide other tools. */
  names: readonly string[]
}

/** An MCP server of a file with its variables substituted. */
export type McpServerConfig = { name: string; include?: readonly string[]; resourceTools?: boolean } & McpCallTimeouts &
  (
    | {
        transport: 'stdio'
        command: string
        args: readonly string[]
        env: Readonly<Record<string, string>>
        cwd: string
        /** Folders that the server should be restricted to, relative to `cwd`. */
        roots?: readonly string[]
      }
    | { transport: 'http'; url: string; headers: Readonly<Record<string, string>> }
  )

/**
 * A permission that a file needs from the user who runs it:
 *
 * - to run a script, a server or a plugin;
 * - to read or work outside the workspace;
 * - to fetch from the listed hosts;
 * - to send prompts, file contents or environment values to an unknown host.
 */
export interface TrustRequest {
  kind: 'script' | 'server' | 'plugin' | 'file' | 'workspace' | 'endpoint' | 'media' | 'variable'
  /** The setting's path, such as `callbacks.before_turn`. */
  field: string
  /** The command, path, URL or variables exactly as written in the file. */
  what: string
}

/** Platform features for agent files. All are optional. A section that needs a missing feature fails with `ConfigError` `unsupported`. */
export interface ConfigHost {
  /** Values for `${VARIABLES}`. */
  env?: Readonly<Record<string, string | undefined>>
  /** Returns the workspace for a path in the file. A single workspace is the root. Paths in the file are relative to it. */
  workspace?: Workspace | ((path: string) => Workspace | Promise<Workspace>)
  /** Tools by name. Default: file tools over the workspace. `prun` and `revert` are always available. */
  tools?: Iterable<AgentTool> | ((place: ToolPlace) => Iterable<AgentTool> | Promise<Iterable<AgentTool>>)
  /** Stores conversations for `scope = "persistent"`. */
  sessions?: SessionStore
  /** Sends model requests. Default: the global `fetch`. */
  fetch?: typeof fetch
  /** Skills in addition to `[skills]`. On a name conflict, the host's skills take precedence. */
  skills?: SkillSet
  /** Grants trust requests: `true` for all, `false` for none, or a function that decides each request. Default: `false`. */
  trust?: boolean | ((request: TrustRequest) => boolean | Promise<boolean>)
  /** Creates hooks from scripts. Script paths are relative to the agent's workspace. */
  scriptHooks?(scripts: HookScripts, place: AgentPlace): LoopHooks
  /**
   * Loads the module in `[agent] plugins` and returns its plugins. `path` has its variables substituted. Called only after trust is
   * granted. A rejection is reported with its position in the file.
   */
  loadPlugin?(path: string): Promise<readonly AgentPlugin[]>
  /** Connects to a server and returns its tools. The set is closed together with the agent. */
  connectMcp?(server: McpServerConfig): Promise<McpToolSet>
  /** Reads a `file:` path outside the workspace. Called only after trust is granted. */
  readFile?(path: string): Promise<string>
  /** Host models, which files refer to as `{{#id#}}`. */
  models?: Readonly<Record<string, Model>>
  /** Creates the model of a section instead of the provider's factory, for scripted models. Return `undefined` to use the factory. */
  createModel?(section: ModelSection): Model | undefined | Promise<Model | undefined>
  /** Logger of the agents and their parts. Default: the console. `false` disables it. */
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
