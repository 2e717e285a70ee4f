import type { AgentRun } from '../../../../src/index.ts'
import type { Assistant } from '../assistant/assistant.ts'
import type { Meter } from '../repl/meter.ts'
import type { Screen } from '../terminal/screen.ts'

/** The part of the REPL that commands use. */
export interface CommandHost {
  readonly assistant: Assistant
  readonly screen: Screen
  readonly meter: Meter
  readonly isBusy: boolean
  /** Follows a run that the command started. */
  begin(run: AgentRun): void
  /** Restores a text to the input line. */
  giveBack(text: string): void
  leave(): void
}

/** A slash command. */
export interface Command {
  /** The argument, for the help. */
  argument: string
  help: string
  /** Whether the command is available while the agent works. */
  isAnytime: boolean
  run(host: CommandHost, argument: string): void | Promise<void>
}
