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

/** Where an agent works. */
export interface AgentPlace {
  /** As the file says it; `.` where it says nothing. */
  path: string
  /** What the host gave for it, if it gives any. */
  workspace?: Workspace
}

/** What tools are wanted for. */
export interface ToolPlace extends AgentPlace {
  /** The tools that the file names, by their own names: none other need be made. */
  names: readonly string[]
}

/** An MCP server that a file names, its variables filled in. */
export type McpServerConfig = { name: string; include?: readonly string[] } & McpCallTimeouts &
  (
    | {
        transport: 'stdio'
        command: string
        args: readonly string[]
        env: Readonly<Record<string, string>>
        cwd: string
        /** Folders, relative to `cwd` and within it, that it is told to keep to. */
        roots?: readonly string[]
      }
    | { transport: 'http'; url: string; headers: Readonly<Record<string, string>> }
  )

/**
 * Something that a file may not do on its own word. It may run a script, a server or a plugin, read or work outside of the workspace, or fetch from hosts that
 * it names. It may also send what is said and read, or values of the environment, to an address that is no known service.
 */
export interface TrustRequest {
  kind: 'script' | 'server' | 'plugin' | 'file' | 'workspace' | 'endpoint' | 'media' | 'variable'
  /** Where the file says it, such as `callbacks.before_turn`. */
  field: string
  /** The command with its variables, the path, the address, or the variables, as written in the file: whole, with whatever characters it has. */
  what: string
}

/**
 * What a configuration needs of the platform it is used on. All of it is optional: a section that needs what is not there is a `ConfigError`
 * `unsupported`, never ignored.
 */
export interface ConfigHost {
  /** Values of `${VARIABLES}`. */
  env?: Readonly<Record<string, string | undefined>>
  /** The files of a path that the file names. A workspace alone is the root; paths within it are parts of it. */
  workspace?: Workspace | ((path: string) => Workspace | Promise<Workspace>)
  /** Tools by name. Default: file tools over the workspace. `prun` and `revert` are always there. */
  tools?: Iterable<AgentTool> | ((place: ToolPlace) => Iterable<AgentTool> | Promise<Iterable<AgentTool>>)
  /** Where `scope = "persistent"` keeps conversations. */
  sessions?: SessionStore
  /** How models are called. Default: the global one. */
  fetch?: typeof fetch
  /** Skills that are there beside those of `[skills]`; these win. */
  skills?: SkillSet
  /** Whether the file may do what it asks for: everything, nothing, or one by one. Default `false`. */
  trust?: boolean | ((request: TrustRequest) => boolean | Promise<boolean>)
  /** Makes hooks of scripts, whose paths are relative to where the agent works. */
  scriptHooks?(scripts: HookScripts, place: AgentPlace): LoopHooks
  /**
   * Loads the module of `[agent] plugins`, and gives its plugins. `path` is as the file says it, its variables filled in. Called only with trust. What it
   * rejects with is told with the place in the file.
   */
  loadPlugin?(path: string): Promise<readonly AgentPlugin[]>
  /** Connects to a server, and gives its tools. What it returns is closed with the agent that got it. */
  connectMcp?(server: McpServerConfig): Promise<McpToolSet>
  /** Reads a `file:` outside of the workspace; called only with trust. */
  readFile?(path: string): Promise<string>
  /** Models of the host, which files name as `{{#id#}}`. */
  models?: Readonly<Record<string, Model>>
  /** Makes the model of a section in place of its service's factory, for scripted ones; `undefined` leaves it to that. */
  createModel?(section: ModelSection): Model | undefined | Promise<Model | undefined>
  /** For the agents and their parts. Default: the console; `false` silences. */
  logger?: Logger | false
}

/** What a host may be made of. */
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
