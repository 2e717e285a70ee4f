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
  /** Puts text back into the input line. */
  giveBack(text: string): void
  leave(): void
}

/** A slash command. */
export interface Command {
  /** Argument description, for the help. */
  argument: string
  help: string
  /** Whether the command is available during a run. */
  isAnytime: boolean
  run(host: CommandHost, argument: string): void | Promise<void>
}
