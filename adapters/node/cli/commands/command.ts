import type { AgentRun } from '../../../../src/index.ts'
import type { Assistant } from '../assistant/assistant.ts'
import type { Meter } from '../repl/meter.ts'
import type { Screen } from '../terminal/screen.ts'

/** What a command may use of the REPL. */
export interface CommandHost {
  readonly assistant: Assistant
  readonly screen: Screen
  readonly meter: Meter
  readonly isBusy: boolean
  /** Follows a run that the command has begun. */
  begin(run: AgentRun): void
  /** Puts a text into the line that is typed. */
  giveBack(text: string): void
  leave(): void
}

/** What a person can say that is not for the model. */
export interface Command {
  /** What may follow the name. */
  argument: string
  help: string
  /** Whether it may be said while the agent works. */
  isAnytime: boolean
  run(host: CommandHost, argument: string): void | Promise<void>
}
