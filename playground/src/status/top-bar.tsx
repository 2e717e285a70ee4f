import type { RunState } from '../../../src/store/index.ts'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import type { ModelFacts } from '../state/chat-port.ts'
import { ContextMeter } from './context-meter.tsx'
import { ThemeToggle } from './theme-toggle.tsx'

const labels: Record<RunState['status'], string> = {
  idle: 'Ready',
  running: 'Running',
  completed: 'Done',
  error: 'Failed',
  aborted: 'Stopped',
  limit: 'Limit reached',
  paused: 'Paused',
  rejected: 'Rejected',
}

interface TopBarProps {
  state: RunState
  isRacing: boolean
  model: ModelFacts
  isDrawerOpen: boolean
  onPalette: () => void
  onSettings: () => void
  onDrawer: () => void
  onUsage: () => void
}

/** Which model, what it is doing, how full its context is. */
export function TopBar({ state, isRacing, model, isDrawerOpen, onPalette, onSettings, onDrawer, onUsage }: TopBarProps) {
  const status = isRacing ? 'running' : state.status
  return (
    <header class="top-bar">
      <h1 class="brand">
        <span class="brand-mark" aria-hidden="true">
          φ
        </span>
        phi <span class="brand-sub">playground</span>
      </h1>
      <button type="button" class="model" onClick={onSettings} title="Model and settings" data-testid="model-button">
        {model.isScripted && <span class="badge">scripted</span>} <span class="model-name">{model.name}</span>
        <Icon name="unfold" />
      </button>
      <p class="run-status" data-testid="run-status" data-status={status}>
        <span class="dot" aria-hidden="true" />
        {labels[status]}
      </p>
      <div class="top-bar-end">
        <ContextMeter state={state} model={model} onOpen={onUsage} />
        <button type="button" class="palette-button" onClick={onPalette} aria-keyshortcuts="Control+K Meta+K">
          <Icon name="search" />
          <span class="palette-name">Commands</span>
          <kbd>⌘K</kbd>
        </button>
        <span class="drawer-toggle">
          <IconButton icon="panel" label="Inspector" isPressed={isDrawerOpen} onClick={onDrawer} />
        </span>
        <span class="settings-button">
          <IconButton icon="sliders" label="Settings" onClick={onSettings} />
        </span>
        <ThemeToggle />
      </div>
    </header>
  )
}
