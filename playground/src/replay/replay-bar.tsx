import { plural } from '../parts/figures.ts'
import { IconButton } from '../parts/icon-button.tsx'
import type { Replay } from '../state/conversation/replay-controls.ts'
import { speeds } from './replay.ts'
import { longestPause } from './timeline.ts'
import './replay.css'

/** A replay's position and speed: original speed, ten times faster, or step by step. */
export function ReplayBar({ replay, onLeave }: { replay: Replay; onLeave: () => void }) {
  const { timeline, position, isPlaying, speed } = replay
  const { length, moments, turns } = timeline
  if (moments.length === 0) {
    return (
      <div class="replay" data-testid="replay">
        <p class="soft">This conversation was stored without its events, so there is nothing to replay.</p>
        <button type="button" class="small" onClick={onLeave}>
          Back
        </button>
      </div>
    )
  }
  return (
    <section class="replay" aria-label="Replay" data-testid="replay" data-status={isPlaying.value ? 'playing' : 'paused'}>
      <div class="replay-line">
        <div class="replay-ticks" aria-hidden="true">
          {turns.map((at) => (
            <span key={at} style={{ left: `${(at / Math.max(1, length)) * 100}%` }} />
          ))}
        </div>
        <input
          type="range"
          aria-label="Position"
          aria-valuetext={`${clock(position.value)} of ${clock(length)}`}
          min={0}
          max={Math.max(1, Math.ceil(length))}
          value={Math.round(position.value)}
          onInput={({ currentTarget }) => {
            replay.pause()
            replay.seek(currentTarget.valueAsNumber)
          }}
        />
      </div>
      <div class="replay-row">
        <IconButton icon="stepBack" label="Previous event" onClick={() => replay.step(-1)} />
        <button
          type="button"
          class="small primary"
          onClick={() => (isPlaying.value ? replay.pause() : replay.play())}
          aria-label={isPlaying.value ? 'Pause' : 'Play'}
        >
          {isPlaying.value ? 'Pause' : 'Play'}
        </button>
        <IconButton icon="stepForward" label="Next event" onClick={() => replay.step(1)} />
        <fieldset class="segments">
          <legend class="visually-hidden">Speed</legend>
          {speeds.map((factor) => (
            <button key={factor} type="button" aria-pressed={isPlaying.value && speed.value === factor} onClick={() => replay.play(factor)}>
              {factor}×
            </button>
          ))}
        </fieldset>
        <span class="replay-time">
          {clock(position.value)} <span class="soft">/ {clock(length)}</span>
        </span>
        <span class="replay-note" title={`Pauses over ${longestPause / 1000} s are shortened.`}>
          nothing is sent · {plural(moments.length, 'event')} · long pauses cut
        </span>
        <button type="button" class="small" onClick={onLeave}>
          Leave
        </button>
      </div>
    </section>
  )
}

function clock(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}.${Math.floor((ms % 1000) / 100)}`
}
