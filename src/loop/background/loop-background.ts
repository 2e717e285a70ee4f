import type { AbortScope } from '../../base/abort.ts'
import type { AgentMessage } from '../../contract/message/message.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { BackgroundTasks, ToolContext } from '../../types/tool/tool.ts'

/** A call that runs, as work beside the run needs it. */
export interface CallInRun {
  readonly id: string
  readonly name: string
  readonly stop: AbortScope
  /** Whether its result is known: nothing more is heard of it. */
  readonly isOver: boolean
  context(): ToolContext
  /** The result of `work`, or an error result. Never rejects. */
  settle(work: PromiseLike<unknown>): Promise<ToolResult>
  /** The same call once more, with a signal and a clock of its own: it goes on when this one is over. */
  again(): CallInRun
}

/** What goes on beside a run, as its loop needs it. */
export interface LoopBackground {
  /** Whether a task runs, or is about to report. */
  readonly isRunning: boolean
  /** Whether there is something to do before the run may end. */
  readonly isOpen: boolean
  /** Whether the model has not been told of something that has ended. */
  readonly hasReports: boolean
  takeReports(): AgentMessage[]
  /** What the call with this id has begun; once. */
  begunBy(toolCallId: string): string | undefined
  /** As `call` sees it, while that runs. */
  of(call: CallInRun): BackgroundTasks
  /** Waits until a task has ended, something is queued or the run is stopped; where the run need not wait for any, stops them. */
  next(): Promise<void>
  /** The run ends: stops what runs, and keeps what was not told. Never rejects. */
  close(): Promise<void>
}
