// The words that the names of columns are looked up in, as in calibkit.auditing.names.
const words = (text) => new Set(text.split(/\s+/).filter(Boolean));

export const LABEL_NAMES = words(`gold gold_label ground_truth groundtruth truth true_label true_class label_true true
  y_true y_test gt gt_label actual observed obs target targets label labels label_ids y outcome class`);
export const CORRECT_NAMES = words(`correct is_correct iscorrect hit right is_right exact_match acc acc_norm
  quasi_exact_match`);
export const WRONG_NAMES = words(`wrong is_wrong incorrect is_incorrect error is_error mistake miss`);
export const CONFIDENCE_NAMES = words(`confidence conf max_prob maxprob max_probability max_softmax msp
  confidence_score answer_confidence verbalized_confidence verbalised_confidence prediction_score
  prediction_probability prediction_confidence pred_score predicted_score predicted_prob predicted_probability
  pred_prob pred_conf top_prob top1_prob top1_score`);
export const SCORE_NAMES = words(`p prob probs proba probability probabilities score scores softmax sigmoid y_prob
  y_proba y_score y_probs p_hat phat pd risk logit logits pred_proba predict_proba decision_function logprob log_prob
  logprobs prob_pct percent pct output outputs y_logit y_pred pred preds prediction predictions predicted y_hat
  yhat`);
export const PART_WORDS = words(`cats class conf confidence confidences label log logit logits logprob logprobs out
  output p pct percent pred predicted prediction predictions preds prob proba probabilities probability probs score
  scored scores sigmoid softmax y`);
export const STATED_KINDS = {
  percent: words("% pct percent percentage"),
  logprobs: words("logp logprob logprobs"),
  logits: words("logit logits"),
  probs: words("conf confidence msp p pd prob proba probabilities probability probs sigmoid softmax"),
};
