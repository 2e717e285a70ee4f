import type { ComponentChildren } from 'preact'
import type { RunState } from '../../../src/store.ts'
import { commandKey } from '../palette/command-key.ts'
import { Icon } from '../parts/icon.tsx'
import { IconButton } from '../parts/icon-button.tsx'
import type { ModelFacts } from '../state/backend/chat-port.ts'
import { ContextMeter } from './context-meter.tsx'
import { ThemeToggle } from './theme-toggle.tsx'

interface TopBarProps {
  state: RunState
  runStatus: ComponentChildren
  model: ModelFacts
  isDrawerOpen: boolean
  onPalette: () => void
  onSettings: () => void
  onDrawer: () => void
  onUsage: () => void
}

/** Shows the model, its status, and how full its context is. */
export function TopBar({ state, runStatus, model, isDrawerOpen, onPalette, onSettings, onDrawer, onUsage }: TopBarProps) {
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
      {runStatus}
      <div class="top-bar-end">
        <ContextMeter state={state} model={model} onOpen={onUsage} />
        <button type="button" class="palette-button" onClick={onPalette} aria-keyshortcuts="Control+K Meta+K">
          <Icon name="search" />
          <span class="palette-name">Commands</span>
          <kbd>{commandKey}K</kbd>
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
