import type { Definition } from "../contract/plugin.ts";
import type { RouterConfig, SectionModule } from "../router-config.ts";

/** Whether its options are a section of the config. */
export function isSectionModule(definition: Definition): definition is SectionModule {
  return definition.kind === "feature" && "section" in definition;
}

/** The features that have a section, as instances that no file lists. A name with a slash is no listed plugin's. */
export function sectionInstances(sections: readonly SectionModule[], { features }: RouterConfig) {
  return sections.map((definition) => {
    const { type, section } = definition;
    const at = { from: undefined, file: "", folder: ".", position: undefined };
    return { entry: { name: `spec/${section.key}`, type, parameters: features.get(section.key), ...at }, definition };
  });
}
