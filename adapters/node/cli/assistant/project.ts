import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, join } from 'node:path'
import { type AgentTool, ConfigError } from '../../../../src/index.ts'
import { type NodeToolsOptions, nodeTools, SandboxUnavailable } from '../../index.ts'

type Env = Readonly<Record<string, string | undefined>>

/** Where phi works, and where it keeps what belongs to that place. */
export interface Project {
  /** Real path of the directory that the tools work in. */
  root: string
  /** What phi keeps about all projects. */
  home: string
  /** The skills that a person has for all projects, if there are any. */
  skills: string
  /** The sessions of this one. */
  sessions: string
  /** Which of them are open. */
  open: string
  /** What files were before tools changed them. */
  changes: string
  /** What was said at its prompt. */
  history: string
  /** What is always allowed in it. */
  permissions: string
  /** Which sessions were one question alone. */
  oneShots: string
}

/**
 * The project in `directory`. What phi keeps is outside of it: nothing that a tool writes, a repository brings along or a command plants can become a
 * session or a decision to trust something.
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
    throw new ConfigError('invalidOption', `There is no directory ${JSON.stringify(directory)} to work in.`, { cause: error })
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

/** What tools there are, and what is not there and why. */
export interface LocalTools {
  tools: AgentTool[]
  /** Sentences for the person. */
  notes: string[]
}

/** The six tools over `root`; all but `bash` where it cannot be had, and none where tools may not work at all. Commands ask first, always. */
export function localTools(root: string, hasSandbox: boolean): LocalTools {
  if (!hasSandbox) return withBash(root, { sandbox: 'none' }, ['Commands run without a sandbox, with all your rights.'])
  return withBash(root, {}, [])
}

function withBash(root: string, bash: NodeToolsOptions['bash'], notes: string[]): LocalTools {
  try {
    return { tools: nodeTools({ root, ...(bash !== undefined && { bash }) }), notes }
  } catch (error) {
    if (SandboxUnavailable.isInstance(error)) {
      const why = error.message.replace(/, or run commands.*/s, '.')
      return withoutBash(root, `${why}\nGoing on without bash. With --no-sandbox commands run with all your rights, after you were asked.`)
    }
    if (ConfigError.isInstance(error)) return withoutBash(root, `Going on without bash: ${error.message}`)
    throw error
  }
}

function withoutBash(root: string, note: string): LocalTools {
  try {
    return { tools: nodeTools({ root, bash: false }), notes: [note] }
  } catch (error) {
    if (ConfigError.isInstance(error)) return { tools: [], notes: [`Going on without tools: ${error.message}`] }
    throw error
  }
}
