import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { type AgentTool, ConfigError } from '../../../../src/index.ts'
import { type NodeToolsOptions, nodeTools, SandboxUnavailable } from '../../index.ts'

type Env = Readonly<Record<string, string | undefined>>

/** The working directory, and phi's storage for it. */
export interface Project {
  /** The real path of the working directory. */
  root: string
  /** Storage for all projects. */
  home: string
  /** The directory for the user's skills in all projects. */
  skills: string
  /** This project's session directory. */
  sessions: string
  /** The directory that records open sessions. */
  open: string
  /** The directory of file snapshots for `/undo`. */
  changes: string
  /** The prompt history file. */
  history: string
  /** The approval rules file. */
  permissions: string
  /** The file that lists one-shot sessions. */
  oneShots: string
}

/**
 * Returns the project in `directory`. Its storage is outside the directory, so no tool, repository or command can create a session or a
 * trust decision.
 */
export function projectAt(directory: string, env: Env = process.env): Project {
  const root = realPlace(directory)
  const home = homeOf(env)
  const key = createHash('sha256').update(root).digest('hex').slice(0, 16)
  const name =
    basename(root)
      .replace(/[^\w.-]+/g, '-')
      .slice(0, 40) || 'root'
  const place = join(home, 'projects', `${name}-${key}`)
  return {
    root,
    home,
    skills: skillsOf(env),
    sessions: join(place, 'sessions'),
    open: join(place, 'open'),
    changes: join(place, 'changes'),
    history: join(place, 'history.jsonl'),
    permissions: join(place, 'permissions.json'),
    oneShots: join(place, 'one-shots'),
  }
}

function realPlace(directory: string): string {
  try {
    return realpathSync(directory)
  } catch (error) {
    throw new ConfigError('invalidOption', `The working directory ${JSON.stringify(directory)} does not exist.`, { cause: error })
  }
}

function homeOf({ PHI_HOME, XDG_STATE_HOME, LOCALAPPDATA }: Env): string {
  if (PHI_HOME) return PHI_HOME
  if (process.platform === 'win32') return join(LOCALAPPDATA || join(homedir(), 'AppData', 'Local'), 'phi')
  return join(XDG_STATE_HOME || join(homedir(), '.local', 'state'), 'phi')
}

function skillsOf({ PHI_HOME, XDG_CONFIG_HOME, APPDATA }: Env): string {
  if (PHI_HOME) return join(PHI_HOME, 'skills')
  if (process.platform === 'win32') return join(APPDATA || join(homedir(), 'AppData', 'Roaming'), 'phi', 'skills')
  return join(XDG_CONFIG_HOME || join(homedir(), '.config'), 'phi', 'skills')
}

/** A directory's tools, with notes about missing ones. */
export interface LocalTools {
  tools: AgentTool[]
  /** Notes for the user. */
  notes: string[]
}

/**
 * Creates the six tools for `root`. Omits `bash` if no sandbox is available, and all tools if the directory is not allowed. `bash` always
 * needs approval.
 */
export function localTools(root: string, hasSandbox: boolean): LocalTools {
  if (!hasSandbox) return withBash(root, { sandbox: 'none' }, ['Commands run without a sandbox, with all your permissions.'])
  return withBash(root, {}, [])
}

function withBash(root: string, bash: NodeToolsOptions['bash'], notes: string[]): LocalTools {
  try {
    return { tools: nodeTools({ root, ...(bash !== undefined && { bash }) }), notes }
  } catch (error) {
    if (SandboxUnavailable.isInstance(error)) {
      const why = error.message.replace(/, or run commands.*/s, '.')
      return withoutBash(
        root,
        `${why}\nContinuing without bash. With --no-sandbox, commands run with all your permissions, after approval.`,
      )
    }
    if (ConfigError.isInstance(error)) return withoutBash(root, `Continuing without bash: ${error.message}`)
    throw error
  }
}

function withoutBash(root: string, note: string): LocalTools {
  try {
    return { tools: nodeTools({ root, bash: false }), notes: [note] }
  } catch (error) {
    if (ConfigError.isInstance(error)) return { tools: [], notes: [`Continuing without tools: ${error.message}`] }
    throw error
  }
}
