// The architecture, drawn as Figure 1 of "Attention Is All You Need" from the model's own modules.
import { decoderBoxes, encoderBoxes } from '../architecture';
import { useJson } from '../cache';
import { boxWidth, heightOf, placeBoxes, Stack } from '../figure';
import { count, short } from '../format';
import { ModuleTree } from '../module_tree';
import { Message, Numbers, Panel, Stepper, Waiting } from '../parts';
import * as selection from '../selection';
import type { Config, Meta, Module, Trace } from '../types';

const left = 96, between = 156, margin = 44;

function Figure({ root, config, trace, layer }: { root: Module; config: Config; trace: Trace | undefined; layer: number }) {
  const sizes = { source: trace?.source_tokens.length ?? null, target: trace?.target_tokens.length ?? null };
  const encoder = encoderBoxes(root, config, Math.min(layer, config.encoder_layers - 1), sizes);
  const decoder = decoderBoxes(root, config, Math.min(layer, config.decoder_layers - 1), sizes);
  const height = Math.max(heightOf(encoder), heightOf(decoder)) + 2 * margin, bottom = height - 34;
  const right = left + boxWidth + between, width = right + boxWidth + 96;
  const lower = placeBoxes(encoder, bottom), upper = placeBoxes(decoder, bottom);
  const cross = upper.find((p) => p.box.memory), memory = lower.at(-1)!;
  const bendX = left + boxWidth + between / 2 + 4;
  return (
    <svg class="figure" viewBox={`0 0 ${width} ${height}`} role="group" aria-label="Architecture: encoder on the left, decoder on the right">
      <defs>
        <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto-start-reverse"><path d="M0 0L8 4L0 8z" /></marker>
      </defs>
      <Stack boxes={lower} x={left} bottom={bottom} layers={config.encoder_layers} root={root} outer="left" input="Inputs" top={null} />
      <Stack boxes={upper} x={right} bottom={bottom} layers={config.decoder_layers} root={root} outer="right" input="Outputs (shifted right)" top="Output Probabilities" />
      {cross && (
        <g>
          <path class="line memory" d={`M${left + boxWidth / 2} ${memory.top}v-14q0 -8 8 -8H${bendX - 8}q8 0 8 ${cross.top + cross.height / 2 > memory.top - 22 ? 8 : -8}V${cross.top + cross.height / 2 + (cross.top + cross.height / 2 > memory.top - 22 ? -8 : 8)}q0 ${cross.top + cross.height / 2 > memory.top - 22 ? 8 : -8} 8 ${cross.top + cross.height / 2 > memory.top - 22 ? 8 : -8}H${right - 2}`} marker-end="url(#arrow)" />
          <text class="edge-shape" x={bendX + 8} y={cross.top + cross.height / 2 - 8}>K, V</text>
          <text class="edge-shape" x={left + boxWidth / 2 + 10} y={memory.top - 28}>memory {memory.box.shape}</text>
        </g>
      )}
    </svg>
  );
}

function Facts({ meta, config }: { meta: Meta; config: Config }) {
  const dropout = typeof config.dropout === 'object' && config.dropout !== null ? Object.entries(config.dropout).map(([k, v]) => `${k} ${v}`).join(', ') : String(config.dropout);
  return (
    <Panel title="Sizes">
      <Numbers of={[
        ['parameters', count(meta.model!.parameters)], ['d_model', config.d_model], ['heads', `${config.heads} × ${config.d_model / config.heads}`], ['d_ff', config.d_ff],
        ['layers', `${config.encoder_layers} + ${config.decoder_layers}`], ['norm', config.norm === 'pre' ? 'Pre-LN' : 'Post-LN'], ['positions', config.positions],
        ['activation', config.activation], ['vocabularies', `${count(config.source_vocab)} / ${count(config.target_vocab)}`], ['tied embeddings', String(config.tie_embeddings)], ['dropout', dropout],
      ]} />
    </Panel>
  );
}

export function ModelScreen({ meta, trace }: { meta: Meta; trace: Trace | undefined }) {
  const modules = useJson<Module>(meta.model ? 'model' : null);
  if (!meta.model) return <Message kind="hint" text='No model is loaded. Start the program with "glassformer inspect --model FILE".' />;
  const config = meta.model.config, layers = Math.max(config.encoder_layers, config.decoder_layers);
  const layer = Math.min(selection.layer.value, layers - 1);
  return (
    <div class="model-screen">
      <Panel title="Architecture" about="Click a box to see it at work. Numbers are parameters; shapes on the lines are of the sentence at hand."
             tools={<Stepper label="layer" keys="[ and ]" value={layer} count={layers} onChange={(n) => (selection.layer.value = n)} />}>
        <Waiting of={modules}>{(root) => <Figure root={root} config={config} trace={trace} layer={layer} />}</Waiting>
      </Panel>
      <div class="stack">
        <Facts meta={meta} config={config} />
        <Panel title="Modules" about={`Every module with its parameters, ${short(meta.model.parameters)} in all`}>
          <Waiting of={modules}>{(root) => <ModuleTree root={root} />}</Waiting>
        </Panel>
      </div>
    </div>
  );
}
